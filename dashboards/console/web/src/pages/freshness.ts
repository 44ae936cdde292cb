import { ApiError, token } from "../lib/api";
import type { Ready } from "../lib/model";

/** /readyz answers with what is in memory, also when it is not ready. */
export async function readiness(signal: AbortSignal): Promise<Ready> {
  const t = token.get();
  let res: Response;
  try {
    res = await fetch("/readyz", { signal, cache: "no-store", headers: t === null ? {} : { Authorization: `Bearer ${t}` } });
  } catch (e) {
    if (signal.aborted) throw e;
    throw new ApiError(0, "the server does not answer");
  }
  try {
    return (await res.json()) as Ready;
  } catch {
    throw new ApiError(res.status, `status ${res.status}`);
  }
}
