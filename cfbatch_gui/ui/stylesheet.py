"""The application's stylesheet. Dynamic properties select styles: `kind` of buttons and frames, `role` of labels."""

from collections.abc import Callable, Mapping
from string import Template

from PySide6.QtCore import Qt

_SHEET = Template("""
QWidget { outline: none; }
QToolTip { background: $card; color: $text; border: 1px solid $line; padding: 4px 6px; }

QLabel { background: transparent; }
QLabel[role="quiet"] { color: $quiet; }
QLabel[role="small"] { color: $quiet; font-size: ${small}px; }
QLabel[role="strong"] { font-weight: 600; }
QLabel[role="accent"] { color: $accent; }
QLabel[role="attention"] { color: $attention; font-weight: 500; }
QLabel[role="done"] { color: $done; font-weight: 500; }
QLabel[role="error"] { color: $error; font-weight: 500; }
QLabel[role="part"] { font-size: ${part}px; font-weight: 600; }
QLabel[role="title"] { font-size: ${title}px; font-weight: 600; }
QLabel[role="figure"] { font-size: ${figure}px; font-weight: 600; }
QLabel[state="true"] { font-weight: 500; }
QLabel[role="display"] { font-size: ${display}px; font-weight: 600; }
QLabel[role="number"] { color: $quiet; }
QLabel[kind="key"] { border: 1px solid $faint; border-bottom: 2px solid $faint; border-radius: 4px; padding: 1px 5px;
  min-width: 10px; }
QPlainTextEdit[kind="large"] { background: transparent; border: none; padding: 0; font-size: ${part}px; }

QDialog { border: 1px solid $line; }
QMessageBox QLabel#qt_msgbox_label { font-size: ${part}px; font-weight: 600; }
QMessageBox QLabel#qt_msgbox_informativelabel { min-width: 380px; }
QFrame[kind="card"] { background: $card; border: 1px solid $line; border-radius: 10px; }
QFrame[kind="inset"] { background: $inset; border: 1px solid $line; border-radius: 10px; }
QFrame[kind="plain"] { background: transparent; border: none; }
QFrame[kind="line"] { background: $line; border: none; }
QFrame[kind="sidebar"] { background: $sidebar; border: none; }
QFrame[kind="choice"], QRadioButton[kind="choice"] { background: $card; border: 1px solid $line; border-radius: 10px; }
QFrame[kind="choice"]:hover, QRadioButton[kind="choice"]:hover { border-color: $quiet; }
QFrame[kind="choice"][selected="true"], QRadioButton[kind="choice"]:checked {
    background: $selection; border: 2px solid $accent; }
QFrame[kind="notice"] { border: none; border-radius: 6px; background: $selection; }
QFrame[kind="notice"][floating="true"] { border: 1px solid $faint; }
QFrame[kind="notice"][level="attention"] { background: $attention_back; }
QFrame[kind="notice"][level="error"] { background: $error_back; }
QFrame[kind="notice"][level="done"] { background: $done_back; }

QPushButton { background: $field; color: $text; border: 1px solid $line; border-radius: 6px;
  min-height: ${control}px; max-height: ${control}px; padding: 0 12px; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $track; }
QPushButton:disabled { color: $faint; background: $inset; }
QPushButton:default { border-color: $accent; }
QPushButton::menu-indicator { image: none; width: 0; }
QPushButton[menu="true"] { padding-$start: 11px; padding-$end: 28px; text-align: $start; }
QPushButton[kind="primary"] { background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600; }
QPushButton[kind="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[kind="primary"]:pressed { background: $accent_pressed; border-color: $accent_pressed; }
QPushButton[kind="primary"]:disabled { background: $track; border-color: $track; color: $quiet; }
QPushButton[large="true"] { min-height: ${control_large}px; max-height: ${control_large}px; }
QPushButton[kind="quiet"], QPushButton[kind="icon"] { background: transparent; border: 1px solid transparent; }
QPushButton[kind="quiet"] { padding: 0 10px; }
QPushButton[kind="quiet"]:hover, QPushButton[kind="icon"]:hover { background: $hover; }
QPushButton[kind="quiet"]:pressed, QPushButton[kind="icon"]:pressed { background: $track; }
QPushButton[kind="quiet"]:checked { background: $hover; }
QPushButton[kind="icon"] { padding: 0; min-width: ${control}px; max-width: ${control}px; }
QPushButton[kind="link"] { background: transparent; border: none; color: $accent; padding: 0 2px;
  min-height: ${link}px; max-height: ${link_most}px; text-align: $start; }
QPushButton[kind="link"]:hover { text-decoration: underline; }
QPushButton[kind="link"]:disabled { color: $faint; }
QPushButton[kind="danger"] { color: $error; }

QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox { background: $field; color: $text; border: 1px solid $faint;
  border-radius: 6px; min-height: ${control}px; max-height: ${control}px; padding: 0 10px;
  selection-background-color: $accent; selection-color: $on_accent; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QPlainTextEdit:focus { border-color: $accent; }
QLineEdit:read-only { color: $quiet; background: $inset; }
QLineEdit:disabled, QComboBox:disabled { color: $quiet; background: $inset; }
QComboBox { padding-$end: 26px; combobox-popup: 0; }
QComboBox:hover { background: $hover; }
QComboBox QLineEdit { background: transparent; border: none; padding: 0; min-height: 0; }
QComboBox::drop-down { border: none; width: 24px; }
QComboBox::down-arrow { image: none; }
QComboBox QAbstractItemView { background: $card; color: $text; border: 1px solid $line; padding: 4px;
  selection-background-color: $selection; selection-color: $text; }
QComboBox QAbstractItemView::item { min-height: ${control}px; padding: 0 8px; border-radius: 4px; }
QComboBox QAbstractItemView::item:selected { background: $selection; color: $text; }
QComboBox QAbstractItemView::item:disabled { color: $quiet; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {
  border: none; background: transparent; width: 0; }
QCheckBox, QRadioButton { spacing: 8px; color: $text; background: transparent; }
QCheckBox:disabled, QRadioButton:disabled { color: $quiet; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid $quiet; border-radius: 4px; background: $field; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; }
QCheckBox::indicator:indeterminate { border-color: $accent; background: qlineargradient(x1: 0, y1: 0, x2: 0, y2: 1,
    stop: 0 $accent, stop: 0.4 $accent, stop: 0.41 $on_accent, stop: 0.6 $on_accent, stop: 0.61 $accent,
    stop: 1 $accent); }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border-color: $accent; }
QRadioButton::indicator { width: 14px; height: 14px; border: 1px solid $quiet; border-radius: 8px; background: $field; }
QCheckBox::indicator:!enabled, QRadioButton::indicator:!enabled { border-color: $faint; }
QRadioButton::indicator:checked { width: 6px; height: 6px; border: 5px solid $accent; border-radius: 8px;
  background: $on_accent; }
QPlainTextEdit { background: $field; color: $text; border: 1px solid $faint; border-radius: 6px; padding: 6px;
  selection-background-color: $accent; selection-color: $on_accent; }

QMenu { background: $card; color: $text; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $faint; }
QMenu::icon { padding-left: 10px; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QMenuBar { background: $sidebar; color: $text; border-bottom: 1px solid $line; padding: 0 4px; }
QMenuBar::item { padding: 5px 10px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: $hover; }

QTabBar::scroller { width: ${control}px; }
QTabBar QToolButton { background: $window; border: none; border-bottom: 1px solid $line; }
QTabBar QToolButton:hover { background: $hover; }

QScrollArea { background: transparent; border: none; }
QScrollArea > QWidget > QWidget[kind="page"] { background: transparent; }
QAbstractItemView { background: $window; color: $text; border: none; }
QListWidget[kind="topics"] { background: $sidebar; padding: 8px; }
QListWidget[kind="topics"]::item { padding: 0 8px; border-radius: 6px; }
QListWidget[kind="topics"]::item:hover { background: $hover; }
QListWidget[kind="topics"]::item:selected { background: $selection; color: $text; }
QTextBrowser { background: $window; color: $text; border: none; }
QTableView { selection-background-color: $selection; selection-color: $text; gridline-color: transparent; }
QTableView[inset="true"] { background: transparent; }
QHeaderView { background: transparent; border: none; }
QFileDialog QAbstractItemView { selection-background-color: $selection; selection-color: $text; }
QFileDialog QHeaderView { background: $window; }
QFileDialog QHeaderView::section { background: $window; color: $quiet; border: none; border-bottom: 1px solid $line;
  padding: 5px 8px; }
QTableCornerButton::section { background: transparent; border: none; }
QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 2px; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 2px; }
QScrollBar::handle { background: $faint; border-radius: 3px; }
QScrollBar::handle:vertical { min-height: 36px; }
QScrollBar::handle:horizontal { min-width: 36px; }
QScrollBar::handle:hover { background: $quiet; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }
""")


def stylesheet(
    colours: Mapping[str, str],
    pixels: int,
    scaled: Callable[[int], int] = int,
    *,
    direction: Qt.LayoutDirection = Qt.LayoutDirection.LeftToRight,
) -> str:
    """`pixels` is the font size of body text, `scaled` fits a height to it. Qt mirrors no paddings by `direction`."""
    sides = ("left", "right") if direction == Qt.LayoutDirection.LeftToRight else ("right", "left")
    return _SHEET.substitute(
        colours,
        start=sides[0],
        end=sides[1],
        small=pixels - 1,
        part=pixels + 2,
        figure=pixels + 5,
        title=pixels + 7,
        display=pixels + 13,
        control=scaled(28),
        control_large=scaled(32),
        link=scaled(20),
        link_most=scaled(24),
    )
