"""One file is one check is one id; pure functions over facts (CONTRIBUTING.md tells how to add one)."""
