/** Speaks with a WebSocket of the API: opens it, sends texts and shows what comes. */
import { counted } from "./counted.ts";
import { logged } from "./answer-view.ts";
import { button, h, newId } from "./dom.ts";

const maxMessages = 200;

export interface SocketView {
  readonly element: HTMLElement;
  readonly open: (url: string, subprotocols: readonly string[]) => void;
}

/** @param sample A message to begin with. */
export function socketView(sample: string): SocketView {
  const id = newId();
  const state = h("p", { role: "status", class: "hint" }, "Closed.");
  const log = h("ol", { class: "events", tabindex: "0", "aria-label": "The messages" });
  const area = h("textarea", { id, rows: "4", class: "code", spellcheck: "false" });
  area.value = sample;
  let socket: WebSocket | undefined;
  const note = (name: string, data: string) => {
    log.append(logged(name, "", data));
    if (log.childElementCount > maxMessages) log.firstElementChild?.remove();
  };
  const send = button("Send message", () => {
    if (socket?.readyState !== WebSocket.OPEN) return;
    socket.send(area.value);
    note("sent", area.value);
  });
  const close = button("Close", () => socket?.close(1000));
  const enable = (isOpen: boolean) => (send.disabled = close.disabled = !isOpen);
  enable(false);
  const open = (url: string, subprotocols: readonly string[]) => {
    socket?.close(1000);
    const opened = new WebSocket(url.replace(/^http/, "ws"), [...subprotocols]);
    socket = opened;
    opened.binaryType = "arraybuffer";
    state.textContent = "Opening …";
    opened.addEventListener("open", () => {
      state.textContent = "Open.";
      enable(true);
    });
    opened.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => {
      note("received", typeof data === "string" ? data : counted(data.byteLength, "byte"));
    });
    opened.addEventListener("close", ({ code, reason }) => {
      if (socket !== opened) return;
      state.textContent = `Closed: ${code}${reason === "" ? "" : ` ${reason}`}.`;
      enable(false);
    });
  };
  const message = h("div", { class: "field" }, h("label", { for: id }, "Message"), area);
  const element = h("div", {}, state, message, h("p", { class: "buttons" }, send, close), log);
  return { element, open };
}
