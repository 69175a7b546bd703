// Empty: no region was opened.
