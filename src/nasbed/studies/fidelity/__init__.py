"""Which small training ranks architectures like a large one, and at what cost?"""
