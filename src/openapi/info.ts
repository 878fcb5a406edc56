import type { ExternalDocs } from "../routing/meta.ts";

/** Who answers questions about the API. */
export interface Contact {
  readonly name?: string;
  readonly url?: string;
  readonly email?: string;
}

/** The license of the API: an SPDX `identifier` or a `url`, and not both. */
export interface License {
  readonly name: string;
  readonly identifier?: string;
  readonly url?: string;
}

/** Where the API is served. */
export interface ApiServer {
  /** Absolute, or relative to the document. */
  readonly url: string;
  readonly description?: string;
}

/** What the document says of a tag. */
export interface TagText {
  readonly name: string;
  readonly description?: string;
  readonly externalDocs?: ExternalDocs;
}

/** What the document says of the API as a whole. Descriptions may be CommonMark. */
export interface ApiInfo {
  /** The API's name: `API` unless given. */
  readonly title?: string;
  /** The API's own version: `0` unless given. */
  readonly version?: string;
  readonly description?: string;
  readonly termsOfService?: string;
  readonly contact?: Contact;
  readonly license?: License;
  readonly externalDocs?: ExternalDocs;
  /** Servers, the first one first. Without any it is the one that the document is read from. */
  readonly servers?: readonly ApiServer[];
  /** Tags in the order that a reader sees them. Tags of routes that are not listed follow. */
  readonly tags?: readonly TagText[];
}

/** The members of the document that describe the API as a whole, in the order that people write them. */
interface Described {
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: object;
  readonly tags: object;
  readonly externalDocs: object;
}

/** Reports what OpenAPI does not allow. */
export function describeApi(about: ApiInfo, problem: (what: string) => void): Described {
  const { title = "API", version = "0", description, termsOfService, contact, license } = about;
  const { externalDocs, servers = [], tags = [] } = about;
  if (license?.identifier !== undefined && license.url !== undefined) {
    problem("the license has an identifier and a url: OpenAPI allows one of them");
  }
  for (const [what, names] of [
    ["the server", servers.map(({ url }) => url)],
    ["the tag", tags.map(({ name }) => name)],
  ] as const) {
    for (const [index, name] of names.entries()) {
      if (name === "") problem(`${what} at ${index} has no name`);
      else if (names.indexOf(name) !== index) problem(`${what} ${name} is listed twice`);
    }
  }
  return {
    info: { title, version, ...present({ description, termsOfService, contact, license }) },
    servers: servers.length === 0 ? {} : { servers },
    tags: tags.length === 0 ? {} : { tags },
    externalDocs: present({ externalDocs }),
  };
}

/** The members that are there. */
function present(members: { readonly [name: string]: unknown }): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
