"""
Names the files of biLMs and trained models, for the code that finds, fetches or writes these files.
"""

# The files of a biLM in our layout, which is bilm-tf's. A biLM of words has a vocabulary, too.
OPTIONS_FILE, WEIGHTS_FILE, VOCABULARY_FILE = "options.json", "weights.hdf5", "vocab.txt"

# A mix of the biLM's layers, which is beside the two files if it was saved with them.
MIX_FILE = "mix.json"

# The weights in a folder of bilm-tf's layout; the NLPL repository has `model.hdf5`.
WEIGHTS_FILES = (WEIGHTS_FILE, "model.hdf5")

# The options and the weights in folders of other layouts: that of ELMoForManyLangs.
OTHER_FILES = (("config.json", "encoder.pkl"),)

# A path with one of these endings leads to the weights of a biLM, not to a trained model.
WEIGHTS_SUFFIXES = (".hdf5",)

# The suffixes of the files that biLMs and models are read from, besides JSON and text.
DATA_SUFFIXES = (".dic", ".hdf5", ".pkl", ".safetensors", ".th")

# The options of biLMs that the config of a training run names by a path. AllenNLP archives the
# folder.
KEPT_OPTIONS = "vocabulary/.bilm_options.json"

# The config in the folder of a trained model.
CONFIG_FILE = "config.json"

# The weights of a published model, and the softmax of a published language model.
PUBLISHED_WEIGHTS = "weights.safetensors"
SOFTMAX_FILE, WORDS_FILE = "softmax.safetensors", "softmax_words.txt"

# The files that are fetched from a repository, besides those of its vocabulary: no pickle, which
# could hold code.
FETCHED_FILES = (
    *(OPTIONS_FILE, WEIGHTS_FILE, VOCABULARY_FILE, MIX_FILE),
    *(CONFIG_FILE, PUBLISHED_WEIGHTS, SOFTMAX_FILE, WORDS_FILE),
)
