import type { Socket } from "node:net";

/** Past it a message's copy costs more than the second piece that `ws` writes it in. */
const mostShort = 4096;
/** The first byte of a frame that is a whole message. */
const whole = { text: 0x81, binary: 0x82 } as const;

/**
 * Writes a short message as one frame (RFC 6455 §5.2) in one piece: `ws` writes its head by itself, which costs an echo a
 * third. It takes its turn among what `ws` writes, which holds nothing back where nothing is compressed. False for a longer one.
 */
export function writeShort(socket: Socket, data: string | Uint8Array): boolean {
  if (data.length > mostShort) return false;
  if (typeof data !== "string") {
    const frame = frameFor(whole.binary, data.length);
    frame.set(data, frame.length - data.length);
    socket.write(frame);
    return true;
  }
  const length = Buffer.byteLength(data);
  if (length === data.length) {
    // Nothing but ASCII: the system takes it as it is, head and all.
    socket.write(asciiHead(length) + data, "latin1");
    return true;
  }
  const frame = frameFor(whole.text, length);
  frame.write(data, frame.length - length);
  socket.write(frame);
  return true;
}

function asciiHead(length: number): string {
  if (length < 126) return String.fromCharCode(whole.text, length);
  return String.fromCharCode(whole.text, 126, length >> 8, length & 0xff);
}

/** A frame without its message. A length of three bytes a character at the most fits into two. */
function frameFor(first: number, length: number): Buffer {
  const frame = Buffer.allocUnsafe((length < 126 ? 2 : 4) + length);
  frame[0] = first;
  if (length < 126) {
    frame[1] = length;
  } else {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  }
  return frame;
}
