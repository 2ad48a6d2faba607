import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** Whether the page is being printed: what is shown by then is what stands on the paper. */
export function useIsPrinted(): boolean {
  const [isPrinted, setPrinted] = useState(false);
  useEffect(() => {
    const put = (is: boolean) => () => flushSync(() => setPrinted(is));
    const [begin, end] = [put(true), put(false)];
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinted;
}
