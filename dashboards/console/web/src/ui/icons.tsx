import type { JSX } from "preact";

const paths: Record<string, string> = {
  map: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
  tasks: "M4 6h9M4 12h16M9 18h11",
  features: "M4 19V9M10 19V5M16 19v-7M21 19H3",
  line: "M3 12h4M10 12h4M17 12h4M8.5 12a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0ZM15.5 12a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0Z",
  decisions: "M12 3v6M12 9 6 15M12 9l6 6M6 15v5M18 15v5",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8ZM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.8 1.8M17.2 17.2 19 19M5 19l1.8-1.8M17.2 6.8 19 5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z",
  auto: "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18ZM12 3v18M12 7h5M12 11h8M12 15h7",
  out: "M14 4h5v16h-5M4 12h11M11 8l4 4-4 4",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  table: "M4 5h16v14H4zM4 10h16M4 15h16M10 5v14",
  alert: "M12 4 2.5 20h19L12 4ZM12 10v5M12 17.5v.5",
  empty: "M4 13h4l1.5 3h5L16 13h4M4 13 7 5h10l3 8v6H4z",
  key: "M14.5 9.5a4 4 0 1 1-3-3.9M11.3 12.3 4 19.5V21h3v-2h2v-2h2l1.8-1.8",
  back: "M15 5l-7 7 7 7",
};

export function Icon({ name, size = 18 }: { name: string; size?: number }): JSX.Element {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={paths[name] ?? ""} />
    </svg>
  );
}
