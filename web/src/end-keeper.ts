/** How near to its end a reader must be for the text to keep scrolling. */
const NEAR_END_PX = 80;

/**
 * Keeps a scroller at its end while its text grows or its size changes, unless the reader has
 * scrolled away from it. Every change of the text goes through the function this answers with.
 */
export function createEndKeeper(scroller: HTMLElement): (change: () => void) => void {
  let atEnd = true;

  const follow = () => {
    if (atEnd) scroller.scrollTop = scroller.scrollHeight;
  };
  // Hidden, it has no height and no place: what the reader saw last still counts.
  const look = () => {
    if (scroller.clientHeight === 0) return;
    const gap = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    atEnd = gap < NEAR_END_PX;
  };

  scroller.addEventListener("scroll", look);
  new ResizeObserver(follow).observe(scroller);

  return (change) => {
    change();
    follow();
  };
}
