/** Calls an app as Lambda's Node runtime does for an HTTP API: an event, whose answer is an object. */
import { tellAnswer } from "./tell.mjs";

const event = {
  version: "2.0",
  rawPath: "/",
  rawQueryString: "",
  headers: { host: "abc.execute-api.eu-central-1.amazonaws.com", accept: "*/*" },
  requestContext: { domainName: "abc.execute-api.eu-central-1.amazonaws.com", http: { method: "GET" } },
};

/** @param {(request: Request) => Response | Promise<Response>} fetch */
export async function invoke(fetch) {
  const { requestContext, rawPath, rawQueryString, headers } = event;
  const query = rawQueryString === "" ? "" : `?${rawQueryString}`;
  const url = `https://${requestContext.domainName}${rawPath}${query}`;
  const response = await fetch(new Request(url, { method: requestContext.http.method, headers }));
  const result = {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
  tellAnswer(result.body);
}
