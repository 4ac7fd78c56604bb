"""The machine below: files and folders, settings, logs, what the program ships."""
