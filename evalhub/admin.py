import evalhub.access.admin
import evalhub.access.sealing.exposure_admin
import evalhub.audit.admin
import evalhub.llm.admin
import evalhub.notifications.admin
import evalhub.work.admin  # noqa: F401
