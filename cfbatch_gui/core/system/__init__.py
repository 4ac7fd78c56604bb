"""Files and folders, settings, logs, and the files that ship with the program."""
