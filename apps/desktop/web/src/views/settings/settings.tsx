import { type Query, useIsFetching } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { type RefObject, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { queries } from '../../api/client';
import { useConnection } from '../../api/live';
import { pageFacts, pageVersion } from '../../api/page-facts';
import { useMe } from '../../node/node-query';
import { Head } from '../../shell/head';
import { SECTIONS, type Section } from './sections';

/** What has no answer to show yet. */
const FIRST = { predicate: ({ state }: Query) => state.data === undefined };

/** One scroll of sections with their names at the left; each states how things are now. */
export default function SettingsView() {
  const { t } = useTranslation();
  const me = useMe();
  const sections = useMemo(() => SECTIONS.filter(({ isFor }) => isFor?.(me) ?? true), [me]);
  const scroller = useRef<HTMLDivElement>(null);
  const current = useCurrent(scroller, sections);
  useTarget();
  return (
    <main className="view" id="content">
      <Head title={t('view.settings')} />
      <div className="cols scols">
        <nav className="col list" aria-label={t('settings.contents')}>
          {sections.map(({ id, icon: Icon, Mark }) => (
            <a
              key={id}
              className={id === current ? 'nr at' : 'nr'}
              href={`#${id}`}
              aria-current={id === current || undefined}
              onClick={() => goTo(id)}
            >
              <Icon className="i" aria-hidden="true" />
              <span className="cut">{t(`settings.${id}.title`)}</span>
              {Mark && <Mark />}
            </a>
          ))}
          <About />
        </nav>
        <div className="scroll paper" ref={scroller}>
          <div className="sheet-page">
            {sections.map((section) => (
              <Part key={section.id} section={section} />
            ))}
          </div>
        </div>
      </div>
    </main>
  );
}

/** Which program this is, of which workspace, and whether that is there. */
function About() {
  const { t } = useTranslation();
  const connection = useConnection();
  const workspace = t(`settings.workspace.${pageFacts.workspace}`);
  return (
    <p className="about">
      Workspace Graph {pageVersion}
      <br />
      {workspace}
      {connection !== 'none' && `, ${t(`settings.connection.${connection}`)}`}
    </p>
  );
}

function Part({ section: { id, Body } }: { readonly section: Section }) {
  const { t } = useTranslation();
  const titleId = useId();
  return (
    <section id={placeOf(id)} aria-labelledby={titleId} tabIndex={-1}>
      <h2 id={titleId}>{t(`settings.${id}.title`)}</h2>
      <p>{t(`settings.${id}.about`)}</p>
      <Body />
    </section>
  );
}

/** Not the name that the address has: the browser and the router would go there before those above have their height. */
function placeOf(id: string): string {
  return `section-${id}`;
}

function goTo(id: string): void {
  const place = document.getElementById(placeOf(id));
  place?.scrollIntoView();
  place?.focus({ preventScroll: true });
}

/** Goes to the section of the address once those above it have their height. */
function useTarget(): void {
  const hash = useRouterState({ select: ({ location }) => location.hash });
  const isLoading = useIsFetching(FIRST) > 0;
  const reached = useRef('');
  useEffect(() => {
    // What the sections have just begun to ask for is not counted yet when they are first shown.
    if (isLoading || reached.current === hash || queries.isFetching(FIRST) > 0) return undefined;
    const go = () => {
      reached.current = hash;
      document.getElementById(placeOf(hash))?.scrollIntoView();
    };
    // In a frame of its own: what has grown in this one would seem to have moved.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(go);
    });
    return () => cancelAnimationFrame(frame);
  }, [hash, isLoading]);
}

/** The section that is read: that of the address as long as any of it is seen, else the uppermost one. */
function useCurrent(scroller: RefObject<HTMLDivElement | null>, sections: readonly Section[]): string | undefined {
  const hash = useRouterState({ select: ({ location }) => location.hash });
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) =>
        setSeen((former) => {
          const next = new Set(former);
          for (const { target, isIntersecting } of entries) {
            const id = target.id.slice(placeOf('').length);
            if (isIntersecting) next.add(id);
            else next.delete(id);
          }
          return next;
        }),
      { root: scroller.current, rootMargin: '-24px 0px' },
    );
    for (const { id } of sections) {
      const element = document.getElementById(placeOf(id));
      if (element) observer.observe(element);
    }
    return () => observer.disconnect();
  }, [scroller, sections]);
  return seen.has(hash) ? hash : sections.find(({ id }) => seen.has(id))?.id;
}
