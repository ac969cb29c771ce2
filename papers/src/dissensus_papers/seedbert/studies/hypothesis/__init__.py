"""Do members of a seed ensemble look at different parts where annotators do?"""
