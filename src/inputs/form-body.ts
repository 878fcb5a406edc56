import type { MediaType } from "../codecs/media-type.ts";
import type { GivenText } from "./query-text.ts";

/** A file sent with a form. */
export interface UploadedFile {
  /** A text a person chose: never a path to trust. */
  readonly filename?: string;
  /** As the client says: `text/plain` where it says nothing, `application/octet-stream` where it cannot be read. */
  readonly contentType: MediaType;
  readonly content: Uint8Array;
}

/** A form that was read, however it was encoded. */
export interface FormBody {
  /** The first field of a name. */
  field(name: string): GivenText | undefined;
  fields(name: string): Iterable<GivenText>;
  files(name: string): readonly UploadedFile[];
}
