// The certified oidc-provider on loopback: `node oidc_provider.js REDIRECT_URI`, which prints its issuer.
// PKCE (S256) is required. Two addresses are for tests alone: `PUT /people/SUBJECT` says what is known
// of a person, as JSON, and a POST to an interaction signs in as its `sub`, or refuses without one.

import { createServer } from "node:http";
import { json, text } from "node:stream/consumers";
import { Provider } from "oidc-provider";

const [redirectUri] = process.argv.slice(2);
const CLIENT = "touchstone";
const SCOPES = "openid profile email";

/** @type {Map<string, object>} */
const people = new Map();

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: CLIENT,
      client_secret: "secret",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: {
    openid: ["sub"],
    profile: ["name", "preferred_username", "groups"],
    email: ["email", "email_verified"],
  },
  pkce: { required: () => true },
  cookies: { keys: ["of these tests"] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }),
  // people are not asked what may be told to Touchstone
  loadExistingGrant: async ({ oidc }) => {
    const grant = new provider.Grant({ clientId: CLIENT, accountId: oidc.session.accountId });
    grant.addOIDCScope(SCOPES);
    await grant.save();
    return grant;
  },
});
const answer = provider.callback();

server.on("request", async (request, response) => {
  const { pathname } = new URL(request.url ?? "", issuer);
  if (request.method === "PUT" && pathname.startsWith("/people/")) {
    people.set(decodeURIComponent(pathname.slice(8)), await json(request));
    response.writeHead(204).end();
  } else if (request.method === "POST" && pathname.startsWith("/interaction/")) {
    const sub = new URLSearchParams(await text(request)).get("sub");
    const result = sub ? { login: { accountId: sub } } : { error: "access_denied" };
    await provider.interactionFinished(request, response, result);
  } else {
    answer(request, response);
  }
});
console.log(issuer);
