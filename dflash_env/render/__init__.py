"""The only printers: reports and plans as text and JSON."""
