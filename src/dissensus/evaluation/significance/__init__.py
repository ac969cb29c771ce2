"""Tests of significance: would a difference hold for other items and other seeds?"""
