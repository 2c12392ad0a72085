// What templates, flows, runs and drafts are made of, as the service gives them. Nothing here is served.

/** Any value of JSON. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
/** An object whose members are not known before they are looked at. */
export type Fields = { [name: string]: unknown };

/** A node of a template, or a part of one such as a column. */
export interface Node {
  type?: string;
  id?: string;
  content?: unknown;
  body?: Node[];
  columns?: Node[];
  [property: string]: unknown;
}

export interface Style extends Fields {
  extends?: string;
  fontFamily?: string | string[];
  fontSize?: string | number;
  fontWeight?: number;
  bold?: boolean;
  color?: string;
  background?: string;
}

export interface Theme {
  fonts?: { [use: string]: string | string[] };
  colors?: { chart?: string[]; [use: string]: string | string[] | undefined };
  styles?: { [name: string]: Style };
  [property: string]: unknown;
}

export interface Page extends Fields {
  size?: string | Fields;
  header?: Node[];
  footer?: Node[];
  background?: { color?: string };
}

export interface Template extends Fields {
  key?: string;
  name?: string;
  kind?: string;
  locale?: string;
  timeZone?: string;
  currency?: string;
  messages?: Fields;
  helpers?: string;
  inputSchema?: Schema;
  page?: Page;
  theme?: Theme;
  macros?: { [name: string]: Fields };
  assets?: { [name: string]: string };
  body?: Node[];
}

/** A branch of a step that chooses. */
export interface Branch {
  name?: string;
  when?: string;
  steps?: FlowStep[];
}

export interface FlowStep extends Fields {
  name?: string;
  type?: string;
  steps?: FlowStep[];
  branches?: Branch[];
  otherwise?: FlowStep[];
}

export interface FlowDefinition extends Fields {
  key?: string;
  name?: string;
  description?: string;
  trigger?: { type?: string };
  steps?: FlowStep[];
}

/** What an editor of a template or of a flow changes. */
export type Definition = Template & FlowDefinition;

/** A JSON Schema. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: Json;
  enum?: Json[];
  format?: string;
  pattern?: string;
  description?: string;
  default?: Json;
  examples?: Json[];
  properties?: { [name: string]: Schema };
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema | Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

/** An error or a warning at a place of a definition. */
export interface Diagnostic {
  severity: "error" | "warning";
  code: string;
  message: string;
  path: string;
  hint?: string | null;
}

/** Where a node is on a page: left, top, width and height in points. */
export interface Box {
  path: string;
  page: number;
  area: [number, number, number, number];
}

export interface PreviewAnswer {
  pageCount: number;
  pages: { page: number; width: number; height: number; picture: string }[];
  boxes: Box[];
  warnings: Diagnostic[];
}

export interface Session {
  signedIn: boolean;
  needsKey: boolean;
  mayChange: boolean;
  scopes: string[];
  name?: string;
  hasProvider: boolean;
  template?: string;
  expiresAt?: string;
  version: string;
}

export interface TemplateEntry {
  key: string;
  name: string;
  version: number | null;
  updatedAt: string;
  labels?: string[];
}

/** What has labels in a list. */
export interface Labelled {
  key: string;
  name: string;
  labels?: string[];
}

export interface AssetEntry {
  name: string;
  version: number;
  mediaType: string;
  families?: string[];
  sizeBytes: number;
  updatedAt: string;
}

/** A template that uses an asset. */
export interface AssetUse {
  key: string;
  name: string;
  draft: boolean;
}

export interface DraftEntry {
  key: string;
  name: string;
  revision: number;
  base?: number | null;
  updatedAt: string;
}

export interface Version {
  version: number;
  note?: string | null;
  restoredFrom?: number | null;
  createdAt: string;
  sizeBytes: number;
}

/** What the service has of a draft or of sample data. */
export interface Stored<T> {
  value: T;
  revision: number | null;
  base: number | null;
}

/** A difference of two definitions: a value that only one of them has is undefined in the other. */
export interface Difference {
  path: string;
  before: unknown;
  after: unknown;
}

export interface FlowEntry {
  key: string;
  name: string;
  version: number;
  published?: number | null;
  updatedAt: string;
  labels?: string[];
}

export interface StepReport {
  path: string;
  attempt?: number;
  startedUs?: number;
  durationUs?: number;
  sandboxUs?: number;
  error?: { code: string; message: string };
  log?: { level: string; text: string }[];
  input?: Json;
  output?: Json;
}

export interface RunEntry {
  id: string;
  flow: string;
  version: number;
  state: string;
  lane: string;
  createdAt: string;
  endedAt?: string | null;
  wakesAt?: string | null;
  worker?: string | null;
  retryOf?: string | null;
  isPartial?: boolean;
  times?: { ingressUs?: number; queueUs?: number; provisionUs?: number; runUs?: number };
  error?: { step?: string; code?: string; message?: string };
  output?: Json;
  trigger?: Json;
  answer?: { status: number; body: Json };
  steps?: StepReport[] | null;
}

export interface KeyEntry {
  id: string;
  name: string;
  roles: string[];
  scopes: string[];
  /** Those besides the scopes of its roles. */
  ownScopes: string[];
  requestsPerMinute?: number;
  createdBy: string;
  createdAt: string;
  expiresAt?: string;
  isExpired: boolean;
  lastUsedAt?: string;
}

/** A key as it is now, with the tag that a change of it is based on. */
export interface FoundKey {
  entry: KeyEntry;
  tag: string;
}

export interface KeyList {
  keys: KeyEntry[];
  fromSettings: { name: string; role: string }[];
}

/** A key that was just made. */
export interface MadeKey {
  secret: string;
  key: KeyEntry;
}

export interface AuditEntry {
  number: number;
  at: string;
  actor: string;
  action: string;
  subject: string;
  version?: number | null;
  address: string;
}

/** A field of the sample data: the names that lead to it, null for an element of a list. */
export interface DataField {
  path: (string | null)[];
  value: Json | undefined;
}

/** A place in a list of a template. */
export interface Place {
  list: string;
  index: number;
}

/** A row of the outline. */
export interface Row extends Place {
  pointer: string;
  level: number;
  icon: string;
  label: string;
  summary: string;
  isNode?: boolean;
  isList?: boolean;
  isNodes?: boolean;
  hasChildren?: boolean;
  open?: boolean;
}
