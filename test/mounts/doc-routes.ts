/** A mount with a document, for `usher routes`. */
import { Path, Route } from "usher-http";

export const routes = [
  Route.mount(Path.of("auth"), () => new Response(""), {
    doc: {
      "GET /session": { summary: "Who is signed in.", responses: { 200: { description: "The session." } } },
      "POST /sign-in/{provider}": {
        responses: { 302: { description: "To the provider." }, "4XX": { description: "Not signed in." } },
      },
    },
  }),
];
