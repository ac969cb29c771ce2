"""Shared by the readers of exports of annotation tools and crowdsourcing platforms."""
