# A distribution's packages (scripts/install-packages.sh on Debian and Ubuntu), or whatever is in PATH: nothing to load.
