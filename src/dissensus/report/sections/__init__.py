"""The sections of a report; a section is a file."""
