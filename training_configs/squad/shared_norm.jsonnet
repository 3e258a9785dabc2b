// Pairs of paragraphs, normalized together, as in Clark and Gardner 2018 for whole articles.
(import 'both.jsonnet') { paragraphs: 2 }
