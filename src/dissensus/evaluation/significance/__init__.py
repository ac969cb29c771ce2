"""Significance tests: would a difference remain with other items and other seeds?"""
