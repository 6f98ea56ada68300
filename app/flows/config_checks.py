"""The check run on a pull request that changes the configuration file."""

from dataclasses import dataclass
from typing import Literal

from app.core.cases import Means
from app.core.config_check import config_check
from app.core.effects import SetCheckRun
from app.core.errors import Rejected, RetryLater
from app.core.facts import Facts
from app.core.policy import PATH
from app.core.ports import Policies, Reader, Reading
from app.core.problems import Problem
from app.db import configurations, outbox
from app.db.engine import Database
from app.db.installations import Standing


@dataclass(frozen=True)
class ConfigChecks:
    """What it needs of the world."""

    database: Database
    reader: Reader
    policies: Policies
    means: Means

    def wanted(
        self, standing: Standing, case_id: int, facts: Facts
    ) -> SetCheckRun | Literal["later"] | None:
        """The check run that a pull request is to have; None where it does not change the file.

        One request, once for each head. Where GitHub fails: "later".
        """
        change = facts.change
        if change is None or not change.touches(PATH) or facts.pull.state == "closed":
            return None
        with self.database.begin() as tx:
            if outbox.has_config_check(tx, case_id, change.head_sha):
                return None
            default = configurations.default_of(tx, standing.repository.installation_id)
        try:
            file = self.reader.policy_file(standing.repository, ref=change.head_sha)
        except RetryLater:
            return "later"
        except Rejected as error:
            wrong = Problem(line=1, column=1, key="", message=error.reason)
            reading: Reading | None = Reading(problems=(wrong,))
        else:
            reading = self.policies.read(file.text, default.text) if file else None
        words = self.means.catalogues(standing.policy.language)
        return config_check(words, change.head_sha, reading, standing.policy)
