"""People whom an imported ledger names: found here, or given an account that cannot log in."""

from django.db.models import Q

from evalhub.models import User


class Accounts:
    """Accounts by the name or e-mail address under which a ledger names them."""

    def __init__(self) -> None:
        self._found: dict[str, User | None] = {}

    def known(self, name: str) -> User | None:
        """The account of this name or address; None where there is none."""
        if name and name not in self._found:
            same = Q(username__iexact=name) | Q(email__iexact=name)
            self._found[name] = User.objects.filter(same).order_by("-is_active", "pk").first()
        return self._found.get(name)

    def account(self, name: str) -> User:
        """The account of this name; made inactive and without a password where there is none."""
        found = self.known(name)
        if found is None:
            found = User(username=name, email=name if "@" in name else "", is_active=False)
            found.set_unusable_password()
            found.save()
            self._found[name] = found
        return found

    def author(self, name: str) -> User | None:
        """The account of whoever is named; None where nobody is."""
        return self.account(name) if name else None
