// The element-wise work of a step of an LSTM or GRU, of a softmax and of a log-sum-exp, each in one
// or two passes over its numbers, and convolutions by look-up. The compiler vectorizes the loops;
// the functions that they call have no branches and call no library.
//
// The plain C functions at the end are instances for float32 and bfloat16. Numbers that are kept
// or summed are float32 in both.

#include <cstdint>
#include <cstring>

namespace {

struct bfloat16 {
    uint16_t bits;
};

inline float bits_to_float(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
}

inline uint32_t float_to_bits(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return bits;
}

inline float load(float x) { return x; }
inline float load(bfloat16 x) { return bits_to_float(uint32_t(x.bits) << 16); }

inline void store(float &to, float x) { to = x; }
// Rounds to the nearest value, and half-way to the even one. A NaN stays one.
inline void store(bfloat16 &to, float x) {
    uint32_t bits = float_to_bits(x);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    to.bits = uint16_t(x != x ? 0x7fc0 : rounded);
}

// A NaN stays a NaN in both functions, since all its comparisons are false.
inline float at_least(float x, float low) { return x < low ? low : x; }
inline float at_most(float x, float high) { return x > high ? high : x; }
inline float clamp(float x, float bound) { return at_most(at_least(x, -bound), bound); }

// exp(x) = 2^n exp(r), where r is at most ln(2) / 2 and exp(r) a polynomial (Cephes, expf), with a
// relative error of 1e-7. Below -87.3 and above 88.3 the result is that of the bound.
inline float exponential(float x) {
    x = at_most(at_least(x, -87.3f), 88.3f);
    // Adding 1.5 * 2^23 rounds to an integer, which the lowest bits of the sum then hold.
    float shifted = x * 1.44269504f + 12582912.0f;
    float n = shifted - 12582912.0f;
    float r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    return bits_to_float(float_to_bits(p) + (float_to_bits(shifted) << 23));
}

inline float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }
inline float tanh(float x) { return 2.0f / (1.0f + exponential(-2.0f * x)) - 1.0f; }

// Runs a step of an LSTM, whose gates before activation are `gates` + `recurrent`. Overwrites the
// memory, and sets `hidden` to o tanh(memory). If `keep`, also sets `gates` to the values of the
// gates, and `memories` to the new memory.
template <typename T, bool keep>
void step(int64_t rows, int64_t dim, T *gates, const T *recurrent, float *memory, float clip,
          T *hidden, float *memories) {
    for (int64_t row = 0; row < rows; row++) {
        T *__restrict a = gates + row * 4 * dim;
        const T *__restrict b = recurrent + row * 4 * dim;
        float *__restrict c = memory + row * dim;
        T *__restrict h = hidden + row * dim;
        float *__restrict kept = keep ? memories + row * dim : nullptr;
#pragma GCC ivdep
        for (int64_t k = 0; k < dim; k++) {
            float i = sigmoid(load(a[k]) + load(b[k]));
            float f = sigmoid(load(a[dim + k]) + load(b[dim + k]));
            float o = sigmoid(load(a[2 * dim + k]) + load(b[2 * dim + k]));
            float g = tanh(load(a[3 * dim + k]) + load(b[3 * dim + k]));
            float now = clamp(f * c[k] + i * g, clip);
            c[k] = now;
            store(h[k], o * tanh(now));
            if (keep) {
                store(a[k], i);
                store(a[dim + k], f);
                store(a[2 * dim + k], o);
                store(a[3 * dim + k], g);
                kept[k] = now;
            }
        }
    }
}

// Sets `grad_gates` to the gradient of the gates before activation, `grad_memory` to the gradient
// of the memory before the step, and `hidden` to o tanh(memory) again.
template <typename T>
void step_gradient(int64_t rows, int64_t dim, const T *gates, const float *memories,
                   const float *before, const T *grad_hidden, float *grad_memory, float clip,
                   T *grad_gates, T *hidden) {
    for (int64_t row = 0; row < rows; row++) {
        const T *__restrict a = gates + row * 4 * dim;
        const float *__restrict c = memories + row * dim;
        const float *__restrict last = before + row * dim;
        const T *__restrict gh = grad_hidden + row * dim;
        float *__restrict gc = grad_memory + row * dim;
        T *__restrict ga = grad_gates + row * 4 * dim;
        T *__restrict h = hidden + row * dim;
#pragma GCC ivdep
        for (int64_t k = 0; k < dim; k++) {
            float i = load(a[k]), f = load(a[dim + k]);
            float o = load(a[2 * dim + k]), g = load(a[3 * dim + k]);
            float t = tanh(c[k]), grad = load(gh[k]);
            store(h[k], o * t);
            float inside = c[k] < 0 ? -c[k] : c[k];
            float m = gc[k] + grad * o * (1 - t * t);
            m = inside < clip ? m : 0.0f;
            store(ga[k], m * g * (i - i * i));
            store(ga[dim + k], m * last[k] * (f - f * f));
            store(ga[2 * dim + k], grad * t * (o - o * o));
            store(ga[3 * dim + k], m * i * (1 - g * g));
            gc[k] = m * f;
        }
    }
}

// Runs a step of a GRU, whose gates are in the order reset, update, new. `gates` and `recurrent`
// are the products of the inputs and of `before`. Sets `rz` and `n` to the values of the gates, and
// `h` to the new state.
void gru_step(int64_t rows, int64_t dim, const float *gates, const float *recurrent,
              const float *before, float *rz, float *n, float *h) {
    for (int64_t row = 0; row < rows; row++) {
        const float *__restrict a = gates + row * 3 * dim;
        const float *__restrict b = recurrent + row * 3 * dim;
        const float *__restrict last = before + row * dim;
        float *__restrict kept = rz + row * 2 * dim;
        float *__restrict candidate = n + row * dim;
        float *__restrict now = h + row * dim;
#pragma GCC ivdep
        for (int64_t k = 0; k < dim; k++) {
            float r = sigmoid(a[k] + b[k]);
            float z = sigmoid(a[dim + k] + b[dim + k]);
            float c = tanh(a[2 * dim + k] + r * b[2 * dim + k]);
            kept[k] = r;
            kept[dim + k] = z;
            candidate[k] = c;
            now[k] = c + z * (last[k] - c);
        }
    }
}

// Sets `grad_gates` and `grad_recurrent` to the gradients of `gates` and `recurrent`. `carried` is
// the gradient of the new state that comes from the next step. It is overwritten with the part of
// it that the update gate passes on to `before`.
void gru_gradient(int64_t rows, int64_t dim, const float *rz, const float *n,
                  const float *recurrent_n, const float *before, const float *grad_h,
                  float *carried, float *grad_gates, float *grad_recurrent) {
    for (int64_t row = 0; row < rows; row++) {
        const float *__restrict gate = rz + row * 2 * dim;
        const float *__restrict candidate = n + row * dim;
        const float *__restrict u = recurrent_n + row * dim;
        const float *__restrict last = before + row * dim;
        const float *__restrict gh = grad_h + row * dim;
        float *__restrict back = carried + row * dim;
        float *__restrict ga = grad_gates + row * 3 * dim;
        float *__restrict gb = grad_recurrent + row * 3 * dim;
#pragma GCC ivdep
        for (int64_t k = 0; k < dim; k++) {
            float r = gate[k], z = gate[dim + k], c = candidate[k], grad = gh[k] + back[k];
            float by_n = grad * (1 - z) * (1 - c * c);
            float by_r = by_n * u[k] * (r - r * r);
            float by_z = grad * (last[k] - c) * (z - z * z);
            ga[k] = by_r;
            ga[dim + k] = by_z;
            ga[2 * dim + k] = by_n;
            gb[k] = by_r;
            gb[dim + k] = by_z;
            gb[2 * dim + k] = by_n * r;
            back[k] = grad * z;
        }
    }
}

// Overwrites each row of logits with exp(logit + bias - m), where m is the largest of the row and
// of the row's target. Sets `losses` to the negative log-likelihood of the target, `scales` to the
// factor that makes the row probabilities, and `targets` to the gradient of the target's logit.
// `drawn` is the column of a row that is its target too, or -1. Its logit counts as minus infinity.
template <typename T>
void softmax(int64_t rows, int64_t classes, T *logits, const float *bias, const int64_t *drawn,
             float *targets, float *losses, float *scales) {
    for (int64_t row = 0; row < rows; row++) {
        T *__restrict x = logits + row * classes;
        if (drawn[row] >= 0) store(x[drawn[row]], -3e38f);
        float largest = targets[row];
#pragma omp simd reduction(max : largest)
        for (int64_t k = 0; k < classes; k++) {
            float logit = load(x[k]) + bias[k];
            largest = logit > largest ? logit : largest;
        }
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t k = 0; k < classes; k++) {
            float logit = load(x[k]) + bias[k] - largest;
            float e = logit < -87.0f ? 0.0f : exponential(logit);
            sum += e;
            store(x[k], e);
        }
        float target = __builtin_expf(targets[row] - largest);
        losses[row] = __builtin_logf(sum + target) + largest - targets[row];
        scales[row] = 1.0f / (sum + target);
        targets[row] = -sum / (sum + target);
    }
}

// Adds a block of classes to the log-sum-exps of rows: `largest` is the largest logit of each row
// so far, and `sums` the sum of exp(logit - largest).
void log_sum(int64_t rows, int64_t classes, const float *logits, float *largest, float *sums) {
    for (int64_t row = 0; row < rows; row++) {
        const float *__restrict x = logits + row * classes;
        float most = largest[row];
#pragma omp simd reduction(max : most)
        for (int64_t k = 0; k < classes; k++) most = x[k] > most ? x[k] : most;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t k = 0; k < classes; k++) sum += exponential(x[k] - most);
        sums[row] = sums[row] * __builtin_expf(largest[row] - most) + sum;
        largest[row] = most;
    }
}

// The number of filters that are computed together, and the vectors that hold them.
constexpr int64_t block = 32;
typedef float vector __attribute__((vector_size(64)));
typedef int32_t indices __attribute__((vector_size(64)));
constexpr int64_t lanes = sizeof(vector) / sizeof(float), parts = block / lanes;

// Returns the number of characters before the padding. All windows that begin after them are equal.
inline int64_t used_length(const int64_t *characters, int64_t length, int64_t pad) {
    while (length > 0 && characters[length - 1] == pad) length--;
    return length;
}

// Sets `largest` to the maximum of each filter over the windows of each token, and `first` to the
// window where the maximum is. The response to a window is a sum of `width` rows of the table, of
// shape (filters / block, width, alphabet, block).
void convolve(int64_t tokens, int64_t length, int64_t alphabet, int64_t width, int64_t filters,
              const int64_t *characters, const float *table, float *largest, uint8_t *first) {
    for (int64_t start = 0; start < filters; start += block) {
        const float *rows = table + start * width * alphabet;
        int64_t used = filters - start < block ? filters - start : block;
        for (int64_t token = 0; token < tokens; token++) {
            const int64_t *ids = characters + token * length;
            int64_t last = used_length(ids, length, alphabet - 1);
            if (last > length - width) last = length - width;
            vector best[parts];
            indices where[parts];
            for (int64_t window = 0; window <= last; window++) {
                vector sums[parts];
                std::memcpy(sums, rows + ids[window] * block, sizeof sums);
                for (int64_t k = 1; k < width; k++) {
                    vector more[parts];
                    std::memcpy(more, rows + (k * alphabet + ids[window + k]) * block, sizeof more);
                    for (int64_t part = 0; part < parts; part++) sums[part] += more[part];
                }
                for (int64_t part = 0; part < parts; part++) {
                    if (window == 0) {
                        best[part] = sums[part];
                        where[part] = indices{};
                        continue;
                    }
                    indices better = sums[part] > best[part];
                    best[part] = better ? sums[part] : best[part];
                    where[part] = better ? indices{} + int32_t(window) : where[part];
                }
            }
            float values[block];
            int32_t windows[block];
            std::memcpy(values, best, sizeof values);
            std::memcpy(windows, where, sizeof windows);
            for (int64_t k = 0; k < used; k++) {
                largest[token * filters + start + k] = values[k];
                first[token * filters + start + k] = uint8_t(windows[k]);
            }
        }
    }
}

// Adds the gradient of the maxima to that of the table.
void convolve_gradient(int64_t tokens, int64_t length, int64_t alphabet, int64_t width,
                       int64_t filters, const int64_t *characters, const float *grad,
                       const uint8_t *first, float *grad_table) {
    for (int64_t start = 0; start < filters; start += block) {
        float *rows = grad_table + start * width * alphabet;
        int64_t used = filters - start < block ? filters - start : block;
        for (int64_t token = 0; token < tokens; token++) {
            const int64_t *ids = characters + token * length;
            const float *grads = grad + token * filters + start;
            const uint8_t *windows = first + token * filters + start;
            for (int64_t k = 0; k < width; k++)
                for (int64_t lane = 0; lane < used; lane++)
                    rows[(k * alphabet + ids[windows[lane] + k]) * block + lane] += grads[lane];
        }
    }
}

}  // namespace

#define KERNELS(T, name)                                                                          \
    extern "C" void step_##name(int64_t rows, int64_t dim, T *gates, const T *recurrent,          \
                                float *memory, float clip, T *hidden, float *memories) {          \
        if (memories)                                                                             \
            step<T, true>(rows, dim, gates, recurrent, memory, clip, hidden, memories);           \
        else                                                                                      \
            step<T, false>(rows, dim, gates, recurrent, memory, clip, hidden, memories);          \
    }                                                                                             \
    extern "C" void step_gradient_##name(                                                         \
        int64_t rows, int64_t dim, const T *gates, const float *memories, const float *before,    \
        const T *grad_hidden, float *grad_memory, float clip, T *grad_gates, T *hidden) {         \
        step_gradient<T>(rows, dim, gates, memories, before, grad_hidden, grad_memory, clip,      \
                         grad_gates, hidden);                                                     \
    }                                                                                             \
    extern "C" void softmax_##name(int64_t rows, int64_t classes, T *logits, const float *bias,   \
                                   const int64_t *drawn, float *targets, float *losses,           \
                                   float *scales) {                                               \
        softmax<T>(rows, classes, logits, bias, drawn, targets, losses, scales);                  \
    }

KERNELS(float, float32)
KERNELS(bfloat16, bfloat16)

extern "C" void gru_step_float32(int64_t rows, int64_t dim, const float *gates,
                                 const float *recurrent, const float *before, float *rz, float *n,
                                 float *h) {
    gru_step(rows, dim, gates, recurrent, before, rz, n, h);
}

extern "C" void gru_gradient_float32(int64_t rows, int64_t dim, const float *rz, const float *n,
                                     const float *recurrent_n, const float *before,
                                     const float *grad_h, float *carried, float *grad_gates,
                                     float *grad_recurrent) {
    gru_gradient(rows, dim, rz, n, recurrent_n, before, grad_h, carried, grad_gates,
                 grad_recurrent);
}

extern "C" void log_sum_float32(int64_t rows, int64_t classes, const float *logits,
                                float *largest, float *sums) {
    log_sum(rows, classes, logits, largest, sums);
}

extern "C" void convolve_float32(int64_t tokens, int64_t length, int64_t alphabet, int64_t width,
                                 int64_t filters, const int64_t *characters, const float *table,
                                 float *largest, uint8_t *first) {
    convolve(tokens, length, alphabet, width, filters, characters, table, largest, first);
}

extern "C" void convolve_gradient_float32(int64_t tokens, int64_t length, int64_t alphabet,
                                          int64_t width, int64_t filters,
                                          const int64_t *characters, const float *grad,
                                          const uint8_t *first, float *grad_table) {
    convolve_gradient(tokens, length, alphabet, width, filters, characters, grad, first,
                      grad_table);
}
