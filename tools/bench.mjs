// Measures the product; see docs/benchmarks.md. The sources are TypeScript that Node runs as it is.
import '../test/bench/source-names.mjs';

const { main } = await import('../test/bench/main.ts');
process.exitCode = await main(process.argv.slice(2));
