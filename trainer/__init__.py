"""The DFlash drafter trainer: everything that runs inside the locked environment."""
