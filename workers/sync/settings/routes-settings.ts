import type { Context } from "hono";
import { Hono } from "hono";
import type { Edge } from "../../../src/platform/http/edge.ts";
import { httpEtag, isKnownEtag, preconditionOf } from "../../../src/platform/http/etag.ts";
import { jsonBody } from "../../../src/platform/http/json-body.ts";
import { settingsMount } from "../../../src/platform/r2/mount-table.ts";
import { SETTINGS_FILE } from "../../../src/platform/r2/settings-files.ts";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { Mount } from "../../../src/shared/files/mounts.ts";
import type { WriteRefusal } from "../../../src/shared/files/write-file.ts";
import { checkWrite, writeFile } from "../../../src/shared/files/write-file.ts";
import { settingsSchema } from "../../../src/shared/settings/schema.ts";
import type { SyncEnv } from "../../env.ts";

type SettingsRequest = Context<Edge<SyncEnv>>;

/** The `settings.json` of the caller, and the one of the organisation: which all read and admins set. */
export function settingsRoutes(): Hono<Edge<SyncEnv>> {
  const app = new Hono<Edge<SyncEnv>>();
  for (const layer of ["user", "managed"] as const) {
    const mountOf = (c: SettingsRequest) => settingsMount(c.env.FILES, c.get("principal"), layer);
    app.get(`/v1/settings/${layer}`, (c) => read(c, mountOf(c)));
    app.put(`/v1/settings/${layer}`, (c) => write(c, mountOf(c)));
  }
  return app;
}

/** The file as it is, also one from outside that is not valid, so that somebody can repair it. */
async function read(c: SettingsRequest, { store }: Mount): Promise<Response> {
  const file = await store.get(SETTINGS_FILE);
  if (!file) return c.json({});
  const headers = { etag: httpEtag(file.etag), "content-type": "application/json" };
  if (isKnownEtag(c.req.raw.headers, file.etag))
    return new Response(null, { status: 304, headers });
  return new Response(file.bytes, { headers });
}

async function write(c: SettingsRequest, mount: Mount): Promise<Response> {
  const denied = checkWrite(mount, SETTINGS_FILE, 0);
  if (denied) throw refusal(denied);
  const precondition = preconditionOf(c.req.raw.headers);
  const { value } = await jsonBody(c.req.raw, settingsSchema);
  const bytes = new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
  const outcome = await writeFile(mount, SETTINGS_FILE, bytes, precondition);
  switch (outcome.status) {
    case "written":
      c.header("etag", httpEtag(outcome.entry.etag));
      return c.json(value);
    case "conflict":
      throw new MemdirError(
        "precondition_failed",
        "The settings are not as the precondition says: they were changed or made meanwhile. Read them again",
      );
    case "refused":
      throw refusal(outcome);
  }
}

function refusal({ reason, message }: WriteRefusal): MemdirError {
  switch (reason) {
    case "read_only":
      return new MemdirError("forbidden", message);
    case "too_large":
      return new MemdirError("too_large", message);
    case "root":
    case "file_above":
    case "files_below":
      return new MemdirError("invalid_request", message);
  }
}
