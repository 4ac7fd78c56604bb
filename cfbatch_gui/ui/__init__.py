"""The face on a desktop: the only place for PySide6 and qasync."""
