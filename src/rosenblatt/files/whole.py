"""Files: one that is there to read, or one written whole or not at all."""

from rosenblatt.whole_files import check_writable, existing, written_whole

__all__ = ["check_writable", "existing", "written_whole"]
