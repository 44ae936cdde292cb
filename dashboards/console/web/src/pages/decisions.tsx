import type { JSX } from "preact";
import { Empty, Head } from "../ui/parts";

/** Nothing writes decisions yet, and the page says so. */
export function DecisionsPage(): JSX.Element {
  return (
    <div class="page">
      <Head title="Decisions" note="Which node was chosen for which task, and why" />
      <section class="panel">
        <Empty icon="decisions" title="No placement service has written decisions yet">
          <p>When one does, each decision stands here: the task, the nodes that were weighed with their scores, the features that counted, the node that was chosen, and what came of it.</p>
        </Empty>
      </section>
    </div>
  );
}
