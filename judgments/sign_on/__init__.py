"""Sign-on with an organisation's identity provider, by OpenID Connect.

django-allauth speaks the protocol; it is installed only where an administrator names a provider.
"""
