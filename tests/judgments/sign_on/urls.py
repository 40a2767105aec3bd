"""The addresses of a server where sign-on is configured."""

from config.urls import urlpatterns as without
from judgments.sign_on.urls import urlpatterns as more

urlpatterns = [*without, *more]
