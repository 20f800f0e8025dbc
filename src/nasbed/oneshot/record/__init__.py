"""Searches as files. Torch is not needed to read one."""

from nasbed.oneshot.record.search_record import SearchRecord, read_record, versions_used, write_record

__all__ = ["SearchRecord", "read_record", "versions_used", "write_record"]
