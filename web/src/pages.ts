import type { Api } from "./api.ts";
import { asList, asObject, asText } from "./json.ts";

/** Every item of a list of the service, page by page. */
export async function* listItems(
  api: Api,
  path: string,
  query: Record<string, string>,
  signal?: AbortSignal,
): AsyncGenerator<unknown> {
  let page = "";
  do {
    const asked = new URLSearchParams({ ...query, ...(page ? { page } : {}) });
    const response = await api(`${path}?${asked}`, signal ? { signal } : {});
    const body = asObject(await response.json());
    yield* asList(body.data);
    page = asText(body.next_page);
  } while (page);
}
