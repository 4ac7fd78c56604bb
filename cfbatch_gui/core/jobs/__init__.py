"""What we do for the user: packing, the ledger, submitting, watching, collecting, resuming."""
