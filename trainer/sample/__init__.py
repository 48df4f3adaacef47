"""The embedded default: a seeded chat generator and the small frozen target trained on it."""
