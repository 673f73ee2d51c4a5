"""Which tables join best where no column is named: candidates, features, probabilities, reasons."""
