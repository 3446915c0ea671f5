"""Users named in imported data: found here, or created as accounts that cannot log in."""

from django.db.models import Q

from evalhub.models import User


class Accounts:
    """Accounts by the name or e-mail address in the imported data."""

    def __init__(self) -> None:
        self._found: dict[str, User | None] = {}

    def known(self, name: str) -> User | None:
        """Return the account of this name or address; None if there is none."""
        if name and name not in self._found:
            same = Q(username__iexact=name) | Q(email__iexact=name)
            self._found[name] = User.objects.filter(same).order_by("-is_active", "pk").first()
        return self._found.get(name)

    def account(self, name: str) -> User:
        """Return the account of this name; create an inactive one without password if needed."""
        found = self.known(name)
        if found is None:
            found = User(username=name, email=name if "@" in name else "", is_active=False)
            found.set_unusable_password()
            found.save()
            self._found[name] = found
        return found

    def author(self, name: str) -> User | None:
        """Return the account that is named; None without a name."""
        return self.account(name) if name else None
