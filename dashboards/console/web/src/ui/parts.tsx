// The small parts that pages are made of.

import type { ComponentChildren, JSX } from "preact";
import type { ApiError } from "../lib/api";
import type { Asked } from "../lib/live";
import { age, clock } from "../lib/format";
import { Icon } from "./icons";

export function Panel({ title, note, children, id, actions }: { title?: string; note?: ComponentChildren; children: ComponentChildren; id?: string; actions?: ComponentChildren }): JSX.Element {
  return (
    <section class="panel" id={id} aria-label={title}>
      {title !== undefined && (
        <header class="panel-head">
          <h2>{title}</h2>
          {note !== undefined && <span class="muted">{note}</span>}
          {actions !== undefined && <span class="actions">{actions}</span>}
        </header>
      )}
      {children}
    </section>
  );
}

export function Head({ title, badges, note, children, back }: { title: string; badges?: ComponentChildren; note?: ComponentChildren; children?: ComponentChildren; back?: { href: string; text: string } }): JSX.Element {
  return (
    <header class="page-head">
      <div class="page-title">
        {back && <a class="back" href={back.href}><Icon name="back" size={14} />{back.text}</a>}
        <h1>{title}{badges !== undefined && <span class="badges">{badges}</span>}</h1>
        {note !== undefined && <p class="muted">{note}</p>}
      </div>
      {children !== undefined && <div class="page-tools">{children}</div>}
    </header>
  );
}

export type Tone = "plain" | "good" | "warn" | "bad" | "accent";

export function Badge({ tone = "plain", children, title }: { tone?: Tone; children: ComponentChildren; title?: string }): JSX.Element {
  return <span class={`badge ${tone}`} title={title}>{children}</span>;
}

export const Simulated = (): JSX.Element => <Badge title="This does not exist: a simulator stands in for it">simulated</Badge>;

export function Stat({ label, value, note, tone }: { label: string; value: ComponentChildren; note?: ComponentChildren; tone?: Tone }): JSX.Element {
  return (
    <div class={`stat ${tone ?? ""}`}>
      <dt>{label}</dt>
      <dd>{value}</dd>
      {note !== undefined && note !== "" && note !== false && <dd class="note">{note}</dd>}
    </div>
  );
}

export function Empty({ title, children, icon = "empty" }: { title: string; children?: ComponentChildren; icon?: string }): JSX.Element {
  return (
    <div class="state">
      <Icon name={icon} size={30} />
      <p class="state-title">{title}</p>
      {children !== undefined && <div class="muted">{children}</div>}
    </div>
  );
}

export function Loading({ what }: { what: string }): JSX.Element {
  return (
    <div class="state" role="status">
      <span class="spinner" aria-hidden="true" />
      <p class="muted">Loading {what}…</p>
    </div>
  );
}

export function Failed({ error, what, retry }: { error: ApiError; what: string; retry: () => void }): JSX.Element {
  return (
    <div class="state" role="alert">
      <Icon name="alert" size={30} />
      <p class="state-title">{what} cannot be shown</p>
      <p class="muted">{reason(error)}</p>
      <button type="button" onClick={retry}>Try again</button>
    </div>
  );
}

export function reason(e: ApiError): string {
  switch (e.status) {
    case 0: return `${e.message}. It is tried again by itself.`;
    case 403: return `You may not read this: ${e.message}.`;
    case 404: return e.message;
    case 503: return `${e.message}. It is tried again by itself.`;
    default: return `${e.message} (${e.status})`;
  }
}

/**
 * What an answer allows to show: loading, an error, or the content; with an error beside old
 * data, the data and a line that says how old it is.
 */
export function Show<T>({ asked, what, children }: { asked: Asked<T>; what: string; children: (data: T) => ComponentChildren }): JSX.Element {
  if (asked.data !== undefined) {
    return (
      <>
        {asked.error && <Stale error={asked.error} at={asked.at} retry={asked.retry} />}
        {children(asked.data)}
      </>
    );
  }
  if (asked.error) return <Failed error={asked.error} what={what} retry={asked.retry} />;
  return <Loading what={what.toLowerCase()} />;
}

export function Stale({ error, at, retry }: { error: ApiError; at: number; retry: () => void }): JSX.Element {
  return (
    <div class="stale" role="alert">
      <Icon name="alert" size={16} />
      <span>This is of {clock(at)}, {age(at, Date.now())}. {reason(error)}</span>
      <button type="button" class="small" onClick={retry}>Try now</button>
    </div>
  );
}

export function Select({ label, value, options, onChange, hideLabel = false }: {
  label: string; value: string; onChange: (value: string) => void; hideLabel?: boolean;
  options: readonly { value: string; text: string; group?: string }[];
}): JSX.Element {
  const groups = [...new Set(options.map((o) => o.group ?? ""))];
  const list = (of: string): JSX.Element[] => options.filter((o) => (o.group ?? "") === of).map((o) => <option key={o.value} value={o.value}>{o.text}</option>);
  return (
    <label class="field">
      <span class={hideLabel ? "hidden" : undefined}>{label}</span>
      <select value={value} onChange={(e) => onChange(e.currentTarget.value)}>
        {groups.map((g) => (g === "" ? list(g) : <optgroup key={g} label={g}>{list(g)}</optgroup>))}
      </select>
    </label>
  );
}

/** A choice of few, as buttons side by side. */
export function Choice({ label, value, options, onChange }: { label: string; value: string; options: readonly { value: string; text: string }[]; onChange: (value: string) => void }): JSX.Element {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map((o) => (
        <button key={o.value} type="button" aria-pressed={o.value === value} onClick={() => onChange(o.value)}>{o.text}</button>
      ))}
    </div>
  );
}

/** A bar of a ratio, with its number beside it. */
export function Meter({ ratio, text, label }: { ratio: number | null; text: string; label: string }): JSX.Element {
  const share = ratio === null || Number.isNaN(ratio) ? 0 : Math.max(0, Math.min(1, ratio));
  return (
    <span class="meter" aria-label={`${label}: ${text}`} role="img">
      <svg viewBox="0 0 60 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="60" height="6" rx="3" />{share > 0 && <rect class={share > 0.9 ? "fill high" : "fill"} width={Math.max(3, 60 * share)} height="6" rx="3" />}</svg>
      <span class="num">{text}</span>
    </span>
  );
}
