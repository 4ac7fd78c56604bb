"""Whether a folder, a socket in it, and the process at its other end belong to the user of this process. POSIX only."""

import os
import socket
import stat
import struct
import sys
from pathlib import Path

_UCRED = struct.Struct("3i")  # pid, uid, gid: `struct ucred` of unix(7)


def is_private_folder(path: Path) -> bool:
    """Whether it is a folder of this user that nobody else may enter; a symbolic link to one is not."""
    if sys.platform == "win32":
        return False
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def is_private_socket(path: Path) -> bool:
    """Whether it is a socket of this user in a private folder; a symbolic link to one is not."""
    if sys.platform == "win32":
        return False
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.geteuid() and is_private_folder(path.parent)


if sys.platform != "win32":

    def is_peer_ours(descriptor: int) -> bool:
        """Whether the process at the other end of a connected Unix socket runs as this user, by the system's word.

        For the end that connected, it is the user of the process that called listen(). The descriptor stays open.
        """
        try:
            return _peer(descriptor) == os.geteuid()
        except OSError:
            return False

    def has_left(descriptor: int) -> bool:
        """Whether the process at the other end has closed the connection. The descriptor stays open."""
        with socket.socket(fileno=os.dup(descriptor)) as connected:
            try:
                return not connected.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False  # nothing to read yet
            except OSError:
                return True

    if sys.platform == "linux":

        def _peer(descriptor: int) -> int:
            with socket.socket(fileno=os.dup(descriptor)) as connected:
                found = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
            _, user, _ = _UCRED.unpack(found)
            return int(user)
    else:

        def _peer(descriptor: int) -> int:
            import ctypes

            user, group = ctypes.c_uint(), ctypes.c_uint()
            system = ctypes.CDLL(None, use_errno=True)
            if system.getpeereid(descriptor, ctypes.byref(user), ctypes.byref(group)):
                raise OSError(ctypes.get_errno(), "getpeereid")
            return user.value
