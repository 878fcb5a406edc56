/** The tools, resources and prompts that `@modelcontextprotocol/conformance` needs. */
import { Codec, Event, Log, Meta, Path, Refusal, Returns, get, param, refuse } from "usher-http";
import type { Route } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";

Log.setup({ level: undefined });
const log = Log.source("conformance");

const bytes = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="),
  (unit) => unit.charCodeAt(0),
);
const bytesOf = (contentType: string) => () => new Response(bytes, { headers: { "content-type": contentType } });
const Tick = Event.json("tick", v.object({ percent: v.number() }));
const failed = Refusal.code("failed", { status: 409, doc: "It fails." });
const text = { returns: Returns.text };
const tool = (name: string, more: Meta.Tool = {}) => ({
  meta: Meta.tool({ name, description: `For ${name}.`, ...more }),
});

const id = Path.param("id", Codec.string);
const staticText = get(Path.of("text"), text, () => "This is the content of the static text resource.");
const staticBytes = get(Path.of("bytes"), { returns: Returns.response }, bytesOf("image/png"));
const template = get(
  Path.of("template", id),
  { inputs: { id: param(id) }, returns: Returns.json(v.object({ id: v.string(), data: v.string() })) },
  ({ id }) => ({ id, data: `Data for ID: ${id}` }),
);
const routes = [
  get(Path.of("a"), { ...tool("test_simple_text"), ...text }, () => "This is a simple text response for testing."),
  get(Path.of("b"), { ...tool("test_image_content"), returns: Returns.response }, bytesOf("image/png")),
  get(Path.of("c"), { ...tool("test_audio_content"), returns: Returns.response }, bytesOf("audio/wav")),
  get(Path.of("d"), { ...tool("test_embedded_resource"), returns: Returns.response }, bytesOf("application/pdf")),
  get(Path.of("e"), { ...tool("test_error_handling"), ...text, refuses: [failed] }, () =>
    refuse(failed, "As it should."),
  ),
  get(
    Path.of("f"),
    { ...tool("test_tool_with_progress", { events: "progress" }), returns: Returns.events([Tick]) },
    () => async (send) => {
      for (const percent of [0, 50, 100]) await send(Event.make(Tick, { percent }));
    },
  ),
  // Log lines are not for clients.
  get(Path.of("g"), { ...tool("test_logging_tool"), ...text }, () => {
    log.warn("a line");
    return "logged";
  }),
  staticText,
  staticBytes,
  template,
];
const image = { type: "image", data: btoa(String.fromCharCode(...bytes)), mimeType: "image/png" };
const described = { description: "For conformance." };
const two = v.object({
  arg1: v.pipe(v.string(), v.description("One.")),
  arg2: v.pipe(v.string(), v.description("Two.")),
});
const prompts = [
  Mcp.prompt("test_simple_prompt", v.object({}), () => "This is a simple prompt for testing.", described),
  Mcp.prompt(
    "test_prompt_with_arguments",
    two,
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    described,
  ),
  Mcp.prompt(
    "test_prompt_with_embedded_resource",
    v.object({ resourceUri: v.string() }),
    ({ resourceUri: uri }) => [
      { role: "user", content: { type: "resource", resource: { uri, mimeType: "text/plain", text: "Embedded." } } },
      { role: "user", content: "Please process the embedded resource above." },
    ],
    described,
  ),
  Mcp.prompt(
    "test_prompt_with_image",
    v.object({}),
    () => [
      { role: "user", content: image },
      { role: "user", content: "Look." },
    ],
    described,
  ),
];
const resources = [
  Mcp.resource(staticText, { uri: "test://static-text", mimeType: "text/plain", ...described }),
  Mcp.resource(staticBytes, { uri: "test://static-binary", mimeType: "image/png", ...described }),
  Mcp.resource(template, { uri: "test://template/{id}/data", ...described }),
];
const about = { name: "conformance", version: "1", resources, prompts };

export const conformanceRoutes: readonly Route[] = [...routes, ...Mcp.routes(routes, about)];
