"""The lab: a small web application on this machine. Needs the extra `lab`."""

DEFAULT_PORT = 8642
