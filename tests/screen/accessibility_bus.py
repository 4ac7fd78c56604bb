"""What a screen reader gets: the accessibility bus of the desktop (AT-SPI), spoken by jeepney.

Calls block, so a window in the same process has to go on meanwhile: use `asyncio.to_thread`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from jeepney import DBusAddress, HeaderFields, MatchRule, Message, MessageType, Properties, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, Proxy, open_dbus_connection

_ACCESSIBLE = "org.a11y.atspi.Accessible"
_EVENT = "org.a11y.atspi.Event.Object"
_REGISTRY = "org.a11y.atspi.Registry"
_ROOT = "/org/a11y/atspi/accessible/root"
_WANTED = ("object:state-changed:focused", "object:announcement")  # events that a program sends only when asked to
_PATIENCE = 240.0  # seconds
_LOOK = 0.05
_MOST_CHILDREN = 60  # of a table, that are read

Address = tuple[str, str]  # name on the bus, path of the object


class State(IntEnum):
    """The states that are looked at, by their bit."""

    CHECKED = 4
    FOCUSABLE = 11
    FOCUSED = 12
    SHOWING = 25


@dataclass(frozen=True, slots=True)
class Node:
    """An object of the tree, as it was when it was read; `children` are only those that show on the screen."""

    path: str
    role: str
    name: str
    description: str
    states: frozenset[State]
    children: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """What a program says by itself: "focus" came to an object, or an "announcement" `about` something."""

    kind: str
    path: str
    about: str = ""


class AccessibilityBus:
    """A reader of the program that is on the bus alone.

    It has to be there before the program, which asks only as it comes whether anybody wants to be told of events.
    """

    def __init__(self) -> None:
        with open_dbus_connection("SESSION") as session:
            bus = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
            (address,) = session.send_and_get_reply(new_method_call(bus, "GetAddress"), timeout=_PATIENCE).body
        self._bus: DBusConnection = open_dbus_connection(address)
        self._events: list[Message] = []
        registry = DBusAddress("/org/a11y/atspi/registry", _REGISTRY, _REGISTRY)
        for event in _WANTED:
            self._answer(new_method_call(registry, "RegisterEvent", "sass", (event, [], "")))
        Proxy(message_bus, self._bus).AddMatch(MatchRule(type="signal", interface=_EVENT))
        self._program: Address = ("", "")

    def close(self) -> None:
        """Leave the bus."""
        self._bus.close()

    def windows(self) -> list[Node]:
        """The windows on the screen, with all that shows in them."""
        windows = self._children([self._program])[0]
        return [self._read(each) for each in windows if State.SHOWING in self._nodes([each])[0].states]

    def describe(self, path: str) -> Node:
        """One object, without what is below it."""
        return self._nodes([(self._program[0], path)])[0]

    def events(self) -> list[Event]:
        """What the program has said since the last call, up to now. A focus that is left says nothing here."""
        self._answer(_call(self._program, "GetRole"))  # what was sent before this answer has arrived before it
        messages, self._events = self._events, []
        events = []
        for message in messages:
            kind, detail, _, (_, about), *_rest = message.body
            fields = message.header.fields
            if fields[HeaderFields.member] == "StateChanged" and kind == "focused" and detail:
                events.append(Event("focus", fields[HeaderFields.path]))
            elif fields[HeaderFields.member] == "Announcement":
                events.append(Event("announcement", fields[HeaderFields.path], str(about)))
        return events

    def wait_for_program(self) -> None:
        """Wait until the program has come."""
        deadline = time.monotonic() + _PATIENCE
        while not (programs := self._children([(_REGISTRY, _ROOT)])[0]):
            if time.monotonic() > deadline:
                raise TimeoutError("no program has come to the accessibility bus")
            time.sleep(_LOOK)
        (self._program,) = programs

    def _read(self, window: Address) -> Node:
        """Level by level, so that the questions about a level wait for one another only once."""
        levels: list[list[Address]] = [[window]]
        nodes: dict[Address, Node] = {window: self._nodes([window])[0]}
        below: dict[Address, list[Address]] = {}
        while levels[-1]:
            found = []
            for parent, children in zip(levels[-1], self._children(levels[-1]), strict=True):
                below[parent] = [child for child in children[:_MOST_CHILDREN] if child not in nodes]
                found += below[parent]
            nodes.update(zip(found, self._nodes(found), strict=True))
            levels.append([each for each in found if State.SHOWING in nodes[each].states])
        for level in reversed(levels):
            for parent in level:
                node = nodes[parent]
                shown = tuple(nodes[each] for each in below[parent] if State.SHOWING in nodes[each].states)
                nodes[parent] = Node(node.path, node.role, node.name, node.description, node.states, shown)
        return nodes[window]

    def _nodes(self, addresses: Sequence[Address]) -> list[Node]:
        asked = []
        for program, path in addresses:
            properties = Properties(DBusAddress(path, program, _ACCESSIBLE))
            asked += [properties.get("Name"), properties.get("Description")]
            asked += [_call((program, path), "GetRoleName"), _call((program, path), "GetState")]
        answers = iter(self._answers(asked))
        nodes = []
        for _, path in addresses:
            found = [next(answers) for _ in range(4)]
            if not all(found):
                nodes.append(Node(path, "gone", "", "", frozenset()))
                continue
            ((_, name),), ((_, description),), (role,), ((low, high),) = found
            states = frozenset(each for each in State if (low | high << 32) >> each & 1)
            nodes.append(Node(path, role, name, description, states))
        return nodes

    def _children(self, addresses: Sequence[Address]) -> list[list[Address]]:
        answers = self._answers([_call(each, "GetChildren") for each in addresses])
        return [[(name, path) for name, path in (answer[0] if answer else ())] for answer in answers]

    def _answer(self, question: Message) -> tuple[Any, ...]:
        return self._answers([question])[0]

    def _answers(self, questions: Sequence[Message]) -> list[tuple[Any, ...]]:
        """Ask all at once, and keep the events that come in between. () for an object that has gone meanwhile."""
        serials = []
        for question in questions:
            serial = next(self._bus.outgoing_serial)
            self._bus.send(question, serial=serial)
            serials.append(serial)
        waiting = set(serials)
        answers: dict[int, tuple[Any, ...]] = {}
        while waiting:
            message = self._bus.receive(timeout=_PATIENCE)
            kind, fields = message.header.message_type, message.header.fields
            if kind is MessageType.signal:
                if fields.get(HeaderFields.interface) == _EVENT:
                    self._events.append(message)
                continue
            serial = fields.get(HeaderFields.reply_serial)
            if serial in waiting:
                waiting.discard(serial)
                answers[serial] = () if kind is MessageType.error else message.body
        return [answers[serial] for serial in serials]


def _call(address: Address, method: str) -> Message:
    name, path = address
    return new_method_call(DBusAddress(path, name, _ACCESSIBLE), method)
