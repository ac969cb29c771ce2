"""Exports: what the exports of annotation tools and crowdsourcing platforms share."""
