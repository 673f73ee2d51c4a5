"""Files that hold several tables: archives, spreadsheets, databases, JSON documents, pages of HTML."""
