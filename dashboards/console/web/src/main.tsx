import { render, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { loginNeeded, token } from "./lib/api";
import { pulse, usePulse } from "./lib/live";
import { followLinks, href, usePlace, type Place } from "./lib/url";
import { LoginPage } from "./pages/login";
import { DecisionsPage } from "./pages/decisions";
import { DevicePage } from "./pages/device";
import { FeaturePage } from "./pages/feature";
import { FeaturesPage } from "./pages/features";
import { LinePage } from "./pages/line";
import { MapPage } from "./pages/map";
import { NodePage } from "./pages/node";
import { TasksPage } from "./pages/tasks";
import { Icon } from "./ui/icons";
import { Empty } from "./ui/parts";
import { choose, useChoice, type Choice } from "./ui/theme";

const sections = [
  { path: "", icon: "map", text: "Cluster" },
  { path: "tasks", icon: "tasks", text: "Tasks" },
  { path: "features", icon: "features", text: "Features" },
  { path: "line", icon: "line", text: "Line" },
  { path: "decisions", icon: "decisions", text: "Decisions" },
] as const;

/** The page of a place, and what the window is called. */
function page(place: Place): { title: string; body: JSX.Element; section: string } {
  const [first = "", second, third, fourth] = place.path;
  switch (first) {
    case "": return { title: "Cluster", section: "", body: <MapPage place={place} /> };
    case "nodes":
      if (second !== undefined && third === "devices" && fourth !== undefined) return { title: fourth, section: "", body: <DevicePage key={fourth} node={second} uid={fourth} place={place} /> };
      if (second !== undefined) return { title: second, section: "", body: <NodePage key={second} name={second} place={place} /> };
      break;
    case "tasks": return { title: "Tasks", section: "tasks", body: <TasksPage place={place} /> };
    case "features":
      if (second !== undefined && third !== undefined) return { title: third, section: "features", body: <FeaturePage key={`${second}/${third}`} view={second} feature={third} place={place} /> };
      return { title: "Features", section: "features", body: <FeaturesPage place={place} /> };
    case "line": return { title: "Line", section: "line", body: <LinePage /> };
    case "decisions": return { title: "Decisions", section: "decisions", body: <DecisionsPage /> };
  }
  return { title: "Not found", section: "-", body: <div class="page"><Empty title="There is no such page"><a href={href([])}>To the cluster map</a></Empty></div> };
}

function App(): JSX.Element {
  const place = usePlace();
  const [locked, lock] = useState(false), [entry, enter] = useState(0);
  useEffect(() => {
    const needed = (): void => {
      token.clear();
      pulse.end();
      lock(true);
    };
    loginNeeded.addEventListener("login", needed);
    return () => loginNeeded.removeEventListener("login", needed);
  }, []);
  const at = page(place);
  useEffect(() => {
    document.title = `${locked ? "Sign in" : at.title} · Sextant`;
  }, [at.title, locked]);
  // A new page begins at its top, and a reader of the screen at its main part.
  const where = place.path.join("/");
  useEffect(() => window.scrollTo(0, 0), [where]);
  if (locked) {
    return <LoginPage done={() => {
      lock(false);
      enter((n) => n + 1);
    }} />;
  }
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => {
        e.preventDefault();
        document.getElementById("main")?.focus();
      }}>Skip to content</a>
      <header class="top">
        <a class="brand" href={href([])} aria-label="Sextant, cluster map"><Logo /><span>Sextant</span></a>
        <nav aria-label="Sections">
          {sections.map((s) => (
            <a key={s.path} href={href(s.path === "" ? [] : [s.path])} aria-current={at.section === s.path ? "page" : undefined}><Icon name={s.icon} /><span>{s.text}</span></a>
          ))}
        </nav>
        <div class="top-end">
          <Live />
          <ThemeButton />
          {token.get() !== null && (
            <button type="button" class="icon-button" aria-label="Sign out" title="Sign out" onClick={() => {
              token.clear();
              pulse.end();
              lock(true);
            }}><Icon name="out" /></button>
          )}
        </div>
      </header>
      <main id="main" tabIndex={-1} key={entry}>{at.body}</main>
    </>
  );
}

function Logo(): JSX.Element {
  return (
    <svg width="24" height="24" viewBox="4 2 24 27" fill="none" aria-hidden="true">
      <path d="M6 22 A 13 13 0 0 0 26 22" stroke="var(--accent)" stroke-width="2.4" stroke-linecap="round" />
      <path d="M16 6 L 7.5 23.5 M16 6 L 24.5 23.5 M16 6 L 17.6 26.4" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
      <circle cx="16" cy="6" r="2.6" fill="var(--star)" />
    </svg>
  );
}

function Live(): JSX.Element {
  const live = usePulse();
  return <span class={`live ${live ? "on" : ""}`} title={live ? "New values are shown as they are published" : "New values are asked for every 10 s"}><i aria-hidden="true" /><span>{live ? "live" : "every 10 s"}</span></span>;
}

const next: Record<Choice, Choice> = { auto: "light", light: "dark", dark: "auto" };
const look: Record<Choice, { icon: string; text: string }> = {
  auto: { icon: "auto", text: "Theme: as the system" }, light: { icon: "sun", text: "Theme: light" }, dark: { icon: "moon", text: "Theme: dark" },
};

function ThemeButton(): JSX.Element {
  const c = useChoice();
  return <button type="button" class="icon-button" aria-label={look[c].text} title={look[c].text} onClick={() => choose(next[c])}><Icon name={look[c].icon} /></button>;
}

followLinks();
render(<App />, document.getElementById("app")!);
